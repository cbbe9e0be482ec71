# SPDX-License-Identifier: MIT
# SCAMPI D3.4 (2004), Table 1: loss in percent by rate; Table 2: instructions and cycles per packet.
ADAPTERS = ("SCAMPI", "Intel")
RATES = (4000, 5000, 10000, 17500, 25000, 37500, 50000, 75000, 100000, 150000)
# adapter, bytes: percent at each of RATES; None: not available
LOSS = {
    ("SCAMPI", 1500): (0, 0, 0, 0, 0, 0, 10.3, 40.1, None, None),
    ("SCAMPI", 64): (0, 0, 0, 0, 0.004, 0.005, 0.017, 0.031, 9.6, 39.4),
    ("Intel", 1500): (0, 0.004, 0.016, 0.019, 0.031, 0.055, 0.039, 0.230, None, None),
    ("Intel", 64): (0, 0.003, 0.017, 0.021, 0.030, 0.050, 0, 0.002, 0.057, 59.1),
}
# the highest rates without loss that the text below Table 1 names
LOSS_FREE = {
    ("SCAMPI", 1500): 37500,
    ("SCAMPI", 64): 17500,
    ("Intel", 1500): 4000,
    ("Intel", 64): 4000,
}
# name: bytes, (instructions, cycles) of the SCAMPI adapter, of the Intel adapter
COST = {
    "No function": (64, (321, 1500), (318, 900)),
    "COUNTER": (64, (321, 1500), (371, 700)),
    "BPF_FILTER": (64, (601, 2000), (490, 2800)),
    "SAMPLE_PACKETS": (64, (379, 800), (376, 3700)),
    "TO_BUFFER": (64, (537, 8800), (8316, 14700)),
    "BPF_FILTER + TO_BUFFER": (64, (817, 11900), (8491, 15500)),
    "COUNTER + BPF_FILTER + SAMPLE_PACKETS + STR_SEARCH + TO_BUFFER": (
        1500,
        (18850, 26500),
        (8541, 3500),
    ),
    "STR_SEARCH, 64 bytes": (64, (1393, 3900), (1388, 2900)),
    "STR_SEARCH, 128 bytes": (128, (2149, 3400), (2144, 2800)),
    "STR_SEARCH, 256 bytes": (256, (3697, 4400), (3692, 3800)),
    "STR_SEARCH, 512 bytes": (512, (6757, 7500), (6752, 6200)),
    "STR_SEARCH, 1024 bytes": (1024, (12913, 14500), (12908, 11300)),
    "STR_SEARCH, 1500 bytes": (1500, (18459, 20300), (18452, 15600)),
}
PAPI = (265, 700)  # instructions and cycles of PAPI itself, included in each figure of COST
