"""``zugwerk export``."""

from pathlib import Path

import typer


def export(
    model: Path = typer.Argument(..., help="A self-play model, e.g. artifacts/models/gomoku/10/best.pt."),
    out: Path | None = typer.Option(
        None, dir_okay=False, help="The file to write.  [default: MODEL with the ending .onnx or .lines]"
    ),
    int8: bool = typer.Option(
        False, "--int8", help="Use 8-bit integers in convolutions: faster, with slightly different moves."
    ),
    package: str | None = typer.Option(
        None, metavar="SYSTEM", help="Add it to the package's nets: amazons_net, gomoku_zero or growing_boards."
    ),
    hours: float | None = typer.Option(None, min=0.001, help="Hours of its training, for the card; with --package."),
) -> None:
    """Export MODEL to ONNX, or a line net to its table; both run without torch. Example: zugwerk export best.pt.

    With an output file that ends in .pt, write the torch model with 16-bit weights instead, in half the size. With
    --package, write the export, also of a residual net of the Amazons, and its card (params, commit and figures of this
    checkout) into the package's folder.

    Input: planes float32 [batch, 2 P + 1, H, W], see pipeline_src.systems.gomoku_zero.planes. Outputs: policy float32
    [batch, H * W], logits of the cells from the top row down; value float32 [batch], -1 to 1 to the side to move.
    """
    from pipeline_src.errors import ZugwerkError

    if package is not None:
        if out is not None or int8:
            raise ZugwerkError("--package names the files itself; remove --out and --int8")
        from pipeline_src.reference.package_net import package_net

        net = package_net(model, package, hours=hours)
        typer.echo(f"{net.file}: {net.card.bytes:,} bytes; card with {len(net.card.figures)} figures beside it")
        if not net.card.figures:
            typer.echo(f"no figures: {model} is not the net that the last stage evaluated")
        return
    if hours is not None:
        raise ZugwerkError("--hours is written into a card; add --package SYSTEM, or remove it")
    from pipeline_src.files import written_aside
    from pipeline_src.systems.gomoku_zero.backends import OnnxBackend, as_int8
    from pipeline_src.systems.gomoku_zero.models import export_onnx, load_model, save_model

    if model.suffix == ".onnx":
        raise ZugwerkError(f"{model}: an ONNX model already; export starts from a model.pt")
    loaded = load_model(model)
    if out is not None and out.suffix == ".pt":
        if int8:
            raise ZugwerkError(f"{out}: --int8 makes ONNX models alone; choose a file that ends in .onnx")
        save_model(out, loaded.net, loaded.variant, half=True)
        typer.echo(f"{out}: {out.stat().st_size:,} bytes")
        return
    if loaded.config.kind == "lines":
        from pipeline_src.search.gomoku.line_net import TABLE
        from pipeline_src.systems.gomoku_zero.evaluator import export_table

        target = model.with_suffix(TABLE) if out is None else out
        if int8 or target.suffix != TABLE:
            raise ZugwerkError(f"{model}: a line net is exported as a table, without --int8 and to a file with {TABLE}")
        export_table(loaded, target)
        typer.echo(f"{target}: table of a line net, {target.stat().st_size:,} bytes")
        return
    content = export_onnx(loaded)
    if int8:
        content = as_int8(content)
    info = OnnxBackend(content).info
    target = model.with_suffix(".onnx") if out is None else out
    with written_aside(target) as aside:
        aside.write_bytes(content)
    typer.echo(
        f"{target}: {info.game} {info.height}x{info.width} {info.variant}, {info.kind} net, "
        f"{info.positions} positions of history, {len(content):,} bytes"
    )
