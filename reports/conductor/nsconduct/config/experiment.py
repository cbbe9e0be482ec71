# SPDX-License-Identifier: MIT
# What the configuration describes: players with their steps, trials, variants, values, network.
import dataclasses

PHASES = ("startup", "run", "collect", "reset")
DEFAULT_TIMEOUT_S = 30  # as in Conductor
ONLY_VARIANT = "default"  # of an experiment without [Variants]


@dataclasses.dataclass(frozen=True)
class Step:
    name: str  # as in the file: step1, spawn2, timeout10
    place: int  # 1 is the first of the phase
    command: str
    spawn: bool
    timeout_s: int | None  # of a timeoutN step, whose end by it is no failure
    path: str
    line: int


@dataclasses.dataclass(frozen=True)
class PlayerFile:
    path: str
    address: str  # [Master] player
    phases: dict  # phase -> list of Step

    def step(self, phase, name):
        """By its name, or by its place in the phase."""
        for step in self.phases.get(phase, []):
            if name.lower() in (step.name, str(step.place)):
                return step
        return None


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    player: str
    phase: str
    step: Step
    unit: str
    kind: str  # json, regex, seconds
    argument: str  # path or regular expression


@dataclasses.dataclass(frozen=True)
class Link:
    """A veth pair between two players: (player, interface, address with prefix length or None)."""

    ends: tuple
    mtu: int | None = None


@dataclasses.dataclass(frozen=True)
class Network:
    links: list
    routes: list  # (player, arguments of ip route add)
    forwarding: list  # players that forward packets


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    path: str
    folder: str  # of the master file: where local steps run
    files: dict  # name -> text
    trials: int
    warmup: int
    seed: int | None
    timeout_s: float  # of steps that name none
    players: dict  # name -> PlayerFile
    transports: dict  # name -> (kind, argument)
    settings: dict  # key -> value, of all variants
    variants: dict  # name -> {key: value}
    values: list
    collectors: dict  # player -> names
    network: Network
    warnings: list

    def transport_texts(self):
        """Player -> as in [Transport]."""
        return {
            name: " ".join(word for word in transport if word)
            for name, transport in self.transports.items()
        }

    def words(self, variant):
        """What ${...} in a step stands for."""
        return {**self.settings, **self.variants[variant]}
