"""The group of processes that train together, of which there is one: this process."""

from __future__ import annotations

import enum
import os
from datetime import timedelta
from typing import Any

default_pg_timeout = timedelta(minutes=30)
"""The time limit of groups that are given none."""

_HERE = ("single", "gloo", "mpi")
"""Names of backends that a group of one process may have."""
_ELSEWHERE = ("nccl", "xccl", "ucc")


class DistError(RuntimeError):
    """An error of the communication between processes."""


class DistBackendError(DistError):
    """An error of a backend."""


class DistNetworkError(DistError):
    """An error of the network."""


class DistStoreError(DistError):
    """An error of what processes keep together."""


class ReduceOp(enum.Enum):
    """What a reduction makes of the tensors of several processes; of one, that tensor."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]


class Backend(str):
    """The name of a backend, in small letters."""

    UNDEFINED, SINGLE, GLOO, MPI = "undefined", "single", "gloo", "mpi"
    NCCL, XCCL, UCC = "nccl", "xccl", "ucc"
    backend_list = ("undefined", *_HERE, *_ELSEWHERE)

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """A group of processes that has this one alone. `init_process_group` and `new_group` make it.
    """

    def __init__(self, backend: str, name: str) -> None:
        self._backend, self._name = backend, name

    def rank(self) -> int:
        """The number of this process: 0."""
        return 0

    def size(self) -> int:
        """How many processes there are: 1."""
        return 1

    def name(self) -> str:
        """The name of the backend."""
        return self._backend


class _Groups:
    """The groups that there are: `world` has all processes."""

    world: ProcessGroup | None = None

    def __init__(self) -> None:
        self.made: list[ProcessGroup] = []


_GROUPS = _Groups()


class _Member(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes; None before `init_process_group`."""
        return _GROUPS.world


class group(metaclass=_Member):
    """`group.WORLD` is the group of all processes."""


class GroupMember(metaclass=_Member):
    """`GroupMember.WORLD` is the group of all processes; who is in no group is a number."""

    NON_GROUP_MEMBER = -100


def is_available() -> bool:
    """Whether this package can be used: True, for one process."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return _GROUPS.world is not None


def is_gloo_available() -> bool:
    """Whether a group may have the backend of this name: True."""
    return True


def is_nccl_available() -> bool:
    """Whether a group may have the backend of this name: False."""
    return False


is_mpi_available = is_gloo_available
is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """Whether a group may have a backend of this name."""
    return backend.lower() in _HERE


def is_torchelastic_launched() -> bool:
    """Whether a launcher started this process, by its environment variable."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def _get_default_group() -> ProcessGroup:
    """The group of all processes. Raises ValueError before `init_process_group`."""
    if _GROUPS.world is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return _GROUPS.world


def is_member(group: Any) -> bool:
    """Whether this process is in a group; None is the group of all.

    Raises ValueError where there are no groups, or the group is no longer one.
    """
    world = _get_default_group()
    if group is None or group is world:
        return True
    if group == GroupMember.NON_GROUP_MEMBER:
        return False
    if group not in _GROUPS.made:
        raise ValueError(f"Invalid process group specified: {group}")
    return True


def _checked_backend(backend: str | None) -> str:
    """The backend's name. Raises RuntimeError for one that needs what there is not."""
    if backend is None:
        return "single"
    by_device = dict(
        (part if ":" in part else f"cpu:{part}").split(":", 1)
        for part in Backend(backend).split(",")
    )
    name = by_device.get("cpu")
    if name in _ELSEWHERE:
        raise RuntimeError(
            f"Distributed package doesn't have {name.upper()} built in: it needs an accelerator, "
            "and there is none; use 'gloo'"
        )
    if name not in _HERE:
        raise AssertionError(f"Unknown backend type {backend}")
    return name


def _of_environment(value: int, name: str, init_method: str | None) -> int:
    if value >= 0:
        return value
    if init_method not in (None, "env://"):
        raise ValueError(f"init_process_group: {name.lower()} is missing")
    if name not in os.environ:
        raise ValueError(
            "Error initializing torch.distributed using env:// rendezvous: environment variable "
            f"{name} expected, but not set"
        )
    return int(os.environ[name])


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Make the group of all processes, which is this one alone.

    Nobody has to be found: of `init_method`, `store`, `timeout`, `pg_options` and `device_id`
    nothing is used.

    Args:
        backend: "single" (default), "gloo" or "mpi", which all are the same here; also by device,
            "cpu:gloo,cuda:nccl".
        world_size, rank: 1 and 0; by default the environment variables WORLD_SIZE and RANK.

    Raises:
        ValueError: there is a group already; neither argument nor variable gives the size.
        RuntimeError: for more than one process, and for a backend that needs an accelerator.
    """
    if _GROUPS.world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    name = _checked_backend(backend)
    rank = _of_environment(rank, "RANK", init_method)
    size = _of_environment(world_size, "WORLD_SIZE", init_method)
    if (size, rank) != (1, 0):
        raise RuntimeError(
            f"graphwright trains in one process: a group of world_size={size}, rank={rank} cannot "
            "be made, only one of world_size=1, rank=0"
        )
    _GROUPS.world = ProcessGroup(name, group_name)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forget a group; without one all. AssertionError where there are none."""
    if _GROUPS.world is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _GROUPS.world:
        _GROUPS.world = None
        _GROUPS.made.clear()
    elif is_member(group):
        _GROUPS.made.remove(group)


def new_group(
    ranks: Any = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
) -> ProcessGroup:
    """Another group of this process. ValueError for `ranks` other than 0."""
    world = _get_default_group()
    if ranks is not None and list(ranks) != [0]:
        raise ValueError(
            f"new_group: there is one process, rank 0, but ranks {list(ranks)} were given"
        )
    name = world.name() if backend is None else _checked_backend(backend)
    _GROUPS.made.append(ProcessGroup(name, group_desc or ""))
    return _GROUPS.made[-1]


def get_rank(group: ProcessGroup | None = None) -> int:
    """The number of this process in the group: 0; -1 where it is not in it."""
    return 0 if is_member(group) else -1


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes the group has: 1; -1 where this one is not in it."""
    return 1 if is_member(group) else -1


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name that the group's backend was asked for by."""
    if not is_member(group):
        raise ValueError("Invalid process group specified")
    return Backend((group or _get_default_group()).name())


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The numbers of the group's processes among all: [0]."""
    is_member(group)
    return [0]


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number among all processes of one of the group's. ValueError for another than 0."""
    if not is_member(group) or group_rank != 0:
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return 0


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number in the group of one of all processes. ValueError for another than 0."""
    if not is_member(group) or global_rank != 0:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return 0


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The environment variable LOCAL_RANK, or `fallback_rank`. RuntimeError without either."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment; pass fallback_rank")
    return fallback_rank


def get_pg_count() -> int:
    """How many groups there are."""
    return len(_GROUPS.made) + (_GROUPS.world is not None)
