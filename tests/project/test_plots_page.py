from pipeline_src.project import plots_page


def test_page_carries_the_drawing_library_and_dvcs_places(tmp_path, monkeypatch):
    monkeypatch.setattr(plots_page, "PAGE", tmp_path / "plots.html")
    plots_page.main()
    page = (tmp_path / "plots.html").read_text(encoding="utf-8")
    assert "window.vegaEmbed=" in page.replace(" = ", "=")
    assert len(page) > 500_000
    assert page.count("{plot_divs}") == page.count("{refresh_tag}") == 1
    assert "https://cdn" not in page
    assert page.count("</script>") == 1
