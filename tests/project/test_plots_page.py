from importlib.metadata import version

from pipeline_src.project import plots_page


def test_plots_library_is_built_once(tmp_path, monkeypatch):
    monkeypatch.setattr(plots_page, "cache_root", lambda: tmp_path)
    (tmp_path / f"vega-{version('vl-convert-python')}.js").write_text("kept")
    assert plots_page.bundle() == "kept"


def test_page_contains_the_drawing_library_and_dvcs_placeholders(tmp_path, monkeypatch):
    monkeypatch.setattr(plots_page, "PAGE", tmp_path / "plots.html")
    plots_page.main()
    page = (tmp_path / "plots.html").read_text(encoding="utf-8")
    assert "window.vegaEmbed=" in page.replace(" = ", "=")
    assert len(page) > 500_000
    assert page.count("{plot_divs}") == page.count("{refresh_tag}") == 1
    assert "https://cdn" not in page
    assert page.count("</script>") == 1
