# SPDX-License-Identifier: MIT
# Trials and their order: in each round every variant once, in random order.
import dataclasses
import random


@dataclasses.dataclass(frozen=True)
class Trial:
    round: int  # from 1, warm-up rounds and counted ones apart
    variant: str
    warmup: bool
    order: int  # of the variant in its round, from 1

    @property
    def key(self):
        return self.warmup, self.round, self.variant

    @property
    def folder(self):
        """Below output/."""
        return f"{'warmup-' if self.warmup else ''}{self.round}/{self.variant}"

    def __str__(self):
        return f"{'warm-up round' if self.warmup else 'round'} {self.round}, variant {self.variant}"


def trials(variants, warmup, counted, seed):
    """Rounds keep their order when more are added."""
    planned = []
    for is_warmup, count in ((True, warmup), (False, counted)):
        for number in range(1, count + 1):
            names = list(variants)
            random.Random(f"{seed}/{is_warmup}/{number}").shuffle(names)
            planned.extend(
                Trial(number, name, is_warmup, order) for order, name in enumerate(names, start=1)
            )
    return planned
