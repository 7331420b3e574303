"""Archives of games that stay open, so that a game is found without reading all again, and limits of uploads."""

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.records import files
from pipeline_src.records.record import GameRecord, Reject, read_table, record_of

if TYPE_CHECKING:
    import pyarrow as pa

    from pipeline_src.records.sgf import SgfGame


OPEN = 4  # Number of archives kept in memory
MOST_BYTES = 512 << 20  # Largest size of an archive's file in bytes
MOST_GAMES, MOST_VALUES = 20_000, 4_000_000  # Limits of an uploaded archive: games, and values of all columns


def archive(path: Path) -> "pa.Table":
    """Return an archive as a table, sorted by ``gid``, read again if changed (`ZugwerkError`: missing or damaged)."""
    try:
        found = path.stat()
    except OSError:
        raise ZugwerkError(f"{path}: no such file") from None
    if found.st_size > MOST_BYTES:
        raise ZugwerkError(f"{path}: {found.st_size >> 20} MiB; pages open archives of up to {MOST_BYTES >> 20} MiB")
    return _table(path, found.st_mtime_ns, found.st_size)


@lru_cache(OPEN)
def _table(path: Path, *_stamp: int) -> "pa.Table":
    return read_table(path)


def game_of(path: Path, gid: int) -> GameRecord:
    """Return a game of an archive (`archive`); a `ZugwerkError` if it lacks the game, or the row is no record."""
    import pyarrow.compute as pc

    table = archive(path)
    row = pc.index(table["gid"], gid).as_py()
    if row < 0:
        raise ZugwerkError(f"{path.name}: no game {gid} there")
    return record_of(table.slice(row, 1).to_pylist()[0], path.name)


def read_games(data: bytes, name: str) -> files.Found:
    """Return the games of a file, see `records.files.read_games`; of SGF also the part of a game before a bad move.

    Raises:
        ZugwerkError: as there, or there are too many games.
    """
    kind = files.kind_of(data, name)
    if kind == "archive":
        _check_size(data, name)
    found = _read_sgf(data, name) if kind == "sgf" else files.read_games(data, name)
    if len(found.games) > MOST_GAMES:
        raise ZugwerkError(f"{name}: {len(found.games):,} games; a text may have {MOST_GAMES:,}: split it")
    return found


def _read_sgf(data: bytes, name: str) -> files.Found:
    from pipeline_src.records.sgf import trees
    from pipeline_src.records.sgf_games import parse_games

    found = parse_games(data, 1, name=name)
    if any(isinstance(one, Reject) and one.ply > 0 for one in found):
        of_file = trees(data)
        found = [_begun(one, tree, name) for one, tree in zip(found, of_file, strict=True)]
    games = [one.record for one in found if not isinstance(one, Reject)]
    rejects = [one for one in found if isinstance(one, Reject)]
    if not games:
        raise ZugwerkError(rejects[0].detail)
    return files.Found(games, rejects)


def _begun(found: "SgfGame | Reject", tree: Any, name: str) -> "SgfGame | Reject":
    """A game up to its first bad move; `trees.tree_of` says what is left out."""
    from sgfmill import sgf_grammar

    from pipeline_src.records.sgf_games import parse_games

    if not isinstance(found, Reject):
        return found
    left = found.ply  # inserted passes count in it, so it may be too many
    while left > 0:
        moves, nodes = 0, []
        for node in sgf_grammar.main_sequence_iter(tree):
            moves += "B" in node or "W" in node
            if moves > left:
                break
            nodes.append(node)
        cut = sgf_grammar.Coarse_game_tree()
        cut.sequence = nodes
        (before,) = parse_games(sgf_grammar.serialise_game_tree(cut), found.gid, name=name)
        if not isinstance(before, Reject):
            return before
        left = min(left - 1, before.ply)
    return found


def _check_size(data: bytes, name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        about = pq.read_metadata(BytesIO(data))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ZugwerkError(f"{name}: damaged, or not a Parquet file ({str(error).splitlines()[0]})") from None
    groups = [about.row_group(k) for k in range(about.num_row_groups)]
    values = sum(group.column(k).num_values for group in groups for k in range(group.num_columns))
    if about.num_rows > MOST_GAMES or values > MOST_VALUES:
        raise ZugwerkError(
            f"{name}: {about.num_rows:,} games; an uploaded archive may have {MOST_GAMES:,}: put it into a folder of "
            "the server (--folder) and open it there"
        )
