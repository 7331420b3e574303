"""Running ONNX models on the CPU, in 32-bit floats or with convolutions in 8-bit integers. Knows nothing of torch."""

import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError

Planes = npt.NDArray[np.float32]


def open_session(content: bytes, threads: int = 1) -> Any:
    """An `onnxruntime.InferenceSession`. Raises ZugwerkError: the package onnxruntime is missing."""
    try:
        import onnxruntime
    except ImportError:
        what = "the package onnxruntime is missing: pip install onnxruntime; or use another backend"
        raise ZugwerkError(what) from None
    onnxruntime.disable_telemetry_events()  # some builds keep a file of events to send
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # CPUs without VNNI (AVX2 alone) otherwise add products of 8-bit integers in 16 bits, which overflow.
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def with_int8(content: bytes, batches: Sequence[Planes], floats: Collection[str] = ()) -> bytes:
    """A model with its convolutions in 8-bit integers, a scale for each filter; fully connected layers stay in floats.

    ``content`` is of the file in 32-bit floats, whose input is ``planes``. Ranges of the activations are measured on
    ``batches``, float32 [B, C, H, W] each. Nodes named in ``floats`` stay in floats, too.

    Raises:
        ZugwerkError: a package is missing.
    """
    try:
        import onnx
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
        from onnxruntime.quantization.quant_utils import add_pre_process_metadata
    except ImportError:
        what = "the packages onnx and onnxruntime are needed: pip install onnx onnxruntime; or use another backend"
        raise ZugwerkError(what) from None

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.batches: Iterator[Planes] = iter(batches)

        def get_next(self) -> dict[str, Any] | None:
            batch = next(self.batches, None)
            return None if batch is None else {"planes": batch}

    model = onnx.load_model_from_string(content)
    if all(node.op_type != "Conv" for node in model.graph.node):
        return content
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    add_pre_process_metadata(model)  # nothing is left to fold; otherwise it warns
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "int8.onnx"
        quantize_static(
            model,
            path,
            Reader(),
            quant_format=QuantFormat.QOperator,
            op_types_to_quantize=["Conv", "Relu", "Add", "Pad"],
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            per_channel=True,
            nodes_to_exclude=list(floats),
        )
        made = onnx.load(path)
    onnx.helper.set_model_props(made, metadata)
    return bytes(made.SerializeToString())
