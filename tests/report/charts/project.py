"""Small files as the stages write them, and what a chart shows of them."""

import json

TRAIN = (
    "epoch,validation_move_top1,validation_arrow_top1,validation_arrow_value_accuracy\n"
    "1.0,{0},0.25,0.5\n2.0,0.5,0.5,0.75\n"
)
PHASES = "phase,{0},{0}_low,{0}_high,{1},{1}_low,{1}_high,{2},{2}_low,{2}_high\n".format(
    "from_to_top1", "arrow_top1", "turn_top1"
)
AMAZONS, GOMOKU, GROWING, JOSEKI, DEPTH = (
    f"artifacts/reports/{system}" for system in ("amazons", "gomoku", "growing", "joseki", "depth")
)
MEASURED = "docs/measured"


def table(*lines):
    return "".join(f"{line}\n" for line in lines)


def score(value, low, high):
    return {"value": value, "low": low, "high": high, "n": 20}


FILES = {
    f"{AMAZONS}/train/residual.csv": TRAIN.format(0.25),
    f"{AMAZONS}/train/soft_argmax.csv": TRAIN.format(0.125),
    f"{AMAZONS}/evaluate/residual.phases.csv": PHASES
    + "0-19,.3,.2,.4,.5,.4,.6,.1,.0,.2\n50-,.6,.5,.7,.7,.6,.8,.4,.3,.5\n",
    f"{AMAZONS}/evaluate/one_ply.phases.csv": PHASES
    + "0-19,.5,.4,.6,.5,.4,.6,.3,.2,.4\n50-,.2,.1,.3,.5,.4,.6,.1,0,.2\n",
    f"{AMAZONS}/evaluate/residual.calibration.csv": table(
        "predicted,observed,low,high,turns", ".1,.2,.1,.3,9", ".9,1.0,.8,1.0,7"
    ),
    f"{AMAZONS}/calibration.csv": table("predicted,observed,low,high,turns", ".4,.5,.3,.7,9"),
    f"{GOMOKU}/calibration.csv": table("predicted,observed,low,high,turns", ".3,.4,.2,.6,9"),
    f"{AMAZONS}/match.json": {"mine": {"score": score(0.75, 0.5, 0.9)}, "one_ply": {"score": score(0.25, 0.125, 0.5)}},
    f"{MEASURED}/amazons_engine.json": {
        "elo_per_doubling": score(100, 60, 140),
        "matches": {
            "doubling_200_100": {"score": score(0.6, 0.5, 0.7)},
            "doubling_100_50": {"score": score(0.7, 0.6, 0.8)},
            "one_ply": {"score": score(0.99, 0.9, 1.0)},
        },
    },
    f"{GOMOKU}/losses.csv": table(
        "generation,iteration,policy,value,mean", "1,20,4.5,1.0,2.75", "1,40,4.0,0.5,2.25", "2,60,3.5,0.5,2.0"
    ),
    f"{GOMOKU}/table1.csv": table(
        "generation,wins,draws,losses,score,accepted", "1,15,0,5,0.75,1", "2,8,2,10,0.45,0", "3,12,0,8,0.6,1"
    ),
    f"{GOMOKU}/elo.csv": table("generation,elo,low,high", "1,-100.5,-200,0", "3,50,0,100"),
    f"{GOMOKU}/table2.csv": table(
        "generation,opponent,wins,draws,losses,points,games",
        "1,3,0,1,1,0.5,2",
        "1,all,0,1,1,0.5,2",
        "3,1,1,1,0,1.5,2",
        "3,all,1,1,0,1.5,2",
    ),
    f"{GOMOKU}/table3.csv": table(
        "generation,opponent,wins,draws,losses,points,games,score,low,high",
        "1,minimax,1,0,3,1,4,0.25,0.1,0.5",
        "1,alphabeta4,0,0,4,0,4,0,0,0.6",
        "3,minimax,3,0,1,3,4,0.75,0.5,0.9",
        "3,alphabeta4,2,0,2,2,4,0.5,0.2,0.8",
    ),
    **{f"{GOMOKU}/generations/0{n}.json": {"self_play": {"games": 2}} for n in (1, 2, 3)},
    **{
        f"{GOMOKU}/generations/0{n}.timings.json": {"seconds": {"self_play": 1800.0 * n, "train": 900, "gate": 900}}
        for n in (1, 2, 3)
    },
    "params.yaml": 'gomoku_generations: {"02": {before: "01"}, "03": {before: "02"}}\n'
    "amazons_models: {trained: {soft_argmax: amazons_train, residual: amazons_residual}}\n",
    f"{GROWING}/strength.csv": table(
        "generation,multiply_adds,value,low,high,n", "0,1000000000000,0.5,0.3,0.7,20", "2,3000000000000,0.75,0.5,0.9,20"
    ),
    f"{GROWING}/losses.csv": table(
        "size,generation,policy_loss,value_loss,multiply_adds_in_all",
        "6,1,3.0,0.75,500000000000",
        "6,2,2.0,0.5,1000000000000",
        "9,1,2.5,1.0,3000000000000",
    ),
    f"{MEASURED}/growing_boards_6-9.csv": table(
        "run,seed,generation,computing,score,low,high,n",
        "grown,1,0,0.2,0.4,0.3,0.5,40",
        "grown,1,3,0.6,0.8,0.7,0.9,40",
        "grown,2,3,0.7,0.6,0.5,0.7,40",
        "scratch,1,3,1.0,0.5,0.3,0.7,40",
    ),
    f"{JOSEKI}/growth.csv": table(
        "games,encodings,patterns,transitions,clashes,clashes_ours", "50,400,200,300,1,0", "100,800,350,500,2,0"
    ),
    f"{JOSEKI}/accuracy.csv": table(
        "number,moves,hit_rate,recommend_top1,recommend_top3,baseline_top1,baseline_top3,either_top3",
        "1,9,1.0,0.5,0.75,0.5,0.75,0.75",
        "2,9,0.5,0.25,0.5,0.125,0.25,0.5",
    ),
    f"{MEASURED}/joseki.json": {
        "growth": [{"games": 10, "encodings": 90, "patterns": 60, "transitions": 70}],
        "accuracy": [
            {"number": 1, "hit_rate": 1.0, "recommend_top1": 0.5, "recommend_top3": 0.75, "baseline_top3": 0.25}
        ],
        "scaling": [{"games": 500, "seconds": 0.1}, {"games": 2000, "seconds": 0.5}],
    },
    f"{DEPTH}/balance.csv": table("model,accuracy,macro_f1,mean_depth", "smote,0.5,0.25,4.5", "ours,0.75,0.5,3.0"),
    f"{DEPTH}/evaluate.json": {"models": {"smote": {"accuracy": score(0.5, 0.375, 0.625)}}},
    f"{DEPTH}/train/smote.csv": table("step,loss,validation_macro_f1", "50.0,0.6,0.25", "100.0,0.5,0.375"),
    f"{DEPTH}/train/gone.csv": table("step,loss,validation_macro_f1", "50.0,0.6,0.1"),
    f"{DEPTH}/confusion.csv": table(
        "model,label,chosen,count", "smote,3,3,6", "smote,3,10,2", "smote,10,3,0", "smote,10,10,5"
    ),
    f"{DEPTH}/match.json": {
        "ours_table": {"score": score(0.5, 0.25, 0.75)},
        "cnn_depth3": {"score": score(0.75, 0.5, 0.9)},
        "tables": {"ours": {"spent": 3.5}},
    },
    f"{MEASURED}/search_depth.json": {
        "matches": {"ours_table": {"score": score(0.6, 0.55, 0.65)}, "large_middle": {"score": score(0.625, 0.55, 0.7)}}
    },
    f"{DEPTH}/moves/ours.csv": table(
        "move,moves,depth,asked,used,nodes", "3,50,4.0,4.0,0.0,9", "4,10,4.5,4.5,0.25,9", "5,9,6.0,6.0,0.5,9"
    ),
}


def write(folder, names=FILES):
    """Write files of `FILES` into a checkout."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = FILES[name]
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def series(chart, panel=None):
    """What is drawn: name of the series -> points."""
    found = {}
    for row in chart.rows:
        if row.get("panel") == panel:
            found.setdefault(row.get("series"), []).append((row["x"], row["y"]))
    return found


def intervals(chart, name=None, panel=None):
    """Ends of the intervals of a series."""
    return [(one["low"], one["high"]) for one in chart.rows if (one.get("series"), one.get("panel")) == (name, panel)]


def values(chart, name=None):
    """Name at each point of a series -> value, from top to bottom."""
    return {one["name"]: one["value"] for one in chart.rows if one.get("series") == name}


def by_name(found):
    return {one.name: one for one in found}
