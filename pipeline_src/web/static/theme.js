// Before the first paint: the theme that was chosen, or else that of the system.
document.documentElement.dataset.theme =
  localStorage.getItem("zugwerk.theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
