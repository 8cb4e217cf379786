"""The state of a run in a file: what a resumed run needs to make the steps of an unbroken one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from deg_model import AdapterPlan
from deg_train.fit_options import FitOptions

__all__ = ["RunState"]

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


@dataclass(frozen=True, slots=True)
class RunState:
    """What a run has come to.

    Attributes:
        step: The steps that were made.
        options: How it trains, as JSON has it.
        planner: How it cuts batches; None where it has not measured yet.
        tensors: Each parameter as `parameter/<name>`, its moments as `exp_avg/<name>` and alike.
    """

    step: int
    options: Mapping[str, object]
    planner: str | None
    tensors: Mapping[str, Tensor]

    @classmethod
    def of(
        cls,
        step: int,
        options: FitOptions,
        planner: str | None,
        parameters: Mapping[str, nn.Parameter],
        optimizer: torch.optim.Optimizer,
    ) -> RunState:
        """Return the state of a run, which shares its memory."""
        tensors: dict[str, Tensor] = {}
        for name, parameter in parameters.items():
            tensors[f"parameter/{name}"] = parameter.detach()
            for key, value in optimizer.state.get(parameter, {}).items():
                tensors[f"{key}/{name}"] = value
        return cls(step, json.loads(json.dumps(asdict(options))), planner, tensors)

    @classmethod
    def read(cls, path: Path) -> RunState:
        """Read what `write` wrote.

        Raises:
            ValueError: The file is damaged.
        """
        try:
            with safe_open(path, framework="pt") as saved:
                facts = saved.metadata()
                tensors = {name: saved.get_tensor(name) for name in saved.keys()}  # noqa: SIM118
            step, options = int(facts["step"]), json.loads(facts["options"])
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged ({error}): delete it to begin anew") from error
        return cls(step, options, facts.get("planner"), tensors)

    @property
    def plan(self) -> AdapterPlan:
        """Which adapters it trains; a state from before there was a choice has the default."""
        plan = self.options.get("plan") or asdict(AdapterPlan())
        assert isinstance(plan, dict)
        return AdapterPlan(tuple(plan["names"]), plan["context"])

    def changed(self, options: FitOptions) -> list[str]:
        """Name the options of this state that *options* has otherwise."""
        now = json.loads(json.dumps(asdict(options)))
        return [name for name, value in self.options.items() if now.get(name) != value]

    def write(self, path: Path) -> None:
        """Write the state to *path*, whole or not at all.

        Raises:
            OSError: The disk is full, or the folder is not there.
        """
        part = path.with_suffix(".part")
        facts = {"step": str(self.step), "options": json.dumps(self.options)}
        if self.planner is not None:
            facts["planner"] = self.planner
        tensors = {name: tensor.contiguous() for name, tensor in self.tensors.items()}
        try:
            save_file(tensors, part, metadata=facts)
            os.replace(part, path)
        except SafetensorError as error:
            # how safetensors says that the disk is full
            message = f"{path} cannot be written ({error}); what was saved before is whole"
            raise OSError(message) from error
        finally:
            part.unlink(missing_ok=True)

    def restore(
        self, parameters: Mapping[str, nn.Parameter], optimizer: torch.optim.Optimizer
    ) -> None:
        """Put parameters and moments back; nothing is changed where one does not fit.

        Raises:
            KeyError: With the name of a parameter that is missing or has another shape.
        """
        for name, parameter in parameters.items():
            saved = self.tensors.get(f"parameter/{name}")
            if saved is None or saved.shape != parameter.shape:
                raise KeyError(name)
        with torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(self.tensors[f"parameter/{name}"])
        for name, parameter in parameters.items():
            moments = {
                key: self.tensors[f"{key}/{name}"]
                for key in _MOMENTS
                if f"{key}/{name}" in self.tensors
            }
            # a head that no question has reached yet has none
            if moments:
                optimizer.state[parameter] = moments
