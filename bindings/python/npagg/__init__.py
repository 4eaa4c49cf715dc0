"""libnpagg from Python: structured inference in the aggregation step of neural processes.

Shapes are objects (:class:`Prior`, :class:`Vmp`, :class:`Encoder`, :class:`Decoder`,
:class:`Objective`, :class:`Model`), numbers are numpy arrays of the caller's, used where they lie::

    prior = npagg.Prior.student(d=3)
    params = prior.init_params()
    q, logz = npagg.infer_forward(prior, params, m, v, offsets, logz=True)
    mean = prior.split_posterior(q)["mean"]

float32 or float64 by the dtype of the arrays. What does not fit is a TypeError or ValueError that
names the argument; what the library refuses is :class:`Error`. ``npagg.torch`` has the same as
differentiable functions and modules of PyTorch.
"""

from . import checkpoint, noise, posterior
from ._abi import C as _C
from ._check import join, split
from ._net import Activation
from .ctx import Cache, Context, default_context
from .decoder import Decoder, DecoderGrads, Likelihood
from .encoder import AttentionEncoder, Encoder, EncoderGrads, MeanEncoder
from .errors import Error, Status
from .infer import Grad, InferGrads, Vmp, infer_backward, infer_forward
from .model import Model, Prediction
from .objective import Loss, Normalise, Objective, Points
from .posterior import Kl, Sampling
from .prior import Prior

__version__ = "0.1.0"

__all__ = [
    "Activation",
    "AttentionEncoder",
    "Cache",
    "Context",
    "Decoder",
    "DecoderGrads",
    "Encoder",
    "EncoderGrads",
    "Error",
    "Grad",
    "InferGrads",
    "Kl",
    "Likelihood",
    "Loss",
    "MeanEncoder",
    "Model",
    "Normalise",
    "Objective",
    "Points",
    "Prediction",
    "Prior",
    "Sampling",
    "Status",
    "Vmp",
    "checkpoint",
    "default_context",
    "infer_backward",
    "infer_forward",
    "join",
    "library_version",
    "noise",
    "posterior",
    "split",
    "status_name",
]


def library_version() -> str:
    """Version of the C library that is loaded."""
    return _C.version().decode()


def status_name(status: int) -> str:
    """ "NPAGG_E_ARG" and so on, as the C library names it."""
    return _C.status_name(int(status)).decode()
