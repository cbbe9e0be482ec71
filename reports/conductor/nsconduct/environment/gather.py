# SPDX-License-Identifier: MIT
# A player -> its environment: what a reader needs to know of the machine to judge the figures.
from .. import player_shell
from . import interfaces, machine

# One text for all transports; what a machine does not have is left out.
SCRIPT = """exec 2>/dev/null
echo '==> uname <=='; uname -s; uname -r; uname -v; uname -m
echo '==> cpus <=='; getconf _NPROCESSORS_ONLN
tail -v -n +1 /etc/os-release /proc/cmdline /proc/cpuinfo /proc/meminfo \
  /sys/devices/system/cpu/smt/active /sys/devices/system/cpu/cpufreq/boost \
  /sys/devices/system/cpu/intel_pstate/no_turbo \
  /sys/devices/system/clocksource/clocksource0/current_clocksource \
  /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name /sys/hypervisor/type
cd /sys/devices/system/cpu/vulnerabilities && echo '==> mitigations <==' && grep -H '' *
cd /sys/devices/system/cpu && echo '==> cpufreq <==' && \
  grep -H '' cpu*/cpufreq/scaling_governor cpu*/cpufreq/scaling_driver \
  cpu*/cpufreq/scaling_min_freq cpu*/cpufreq/scaling_max_freq
PATH=$PATH:/usr/sbin:/sbin
while IFS=' :' read -r name rest; do
  case $name in *'|'*|face|lo|Inter*) continue;; esac
  echo "==> interface $name <=="; ethtool -i "$name"
  echo "mtu: $(cat "/sys/class/net/$name/mtu")"; echo "speed: $(cat "/sys/class/net/$name/speed")"
  echo "==> offloads $name <=="; ethtool -k "$name"
done < /proc/net/dev
exit 0
"""


def environment(player, folder, name="environment"):
    """{"kernel", "cpu", ...} of the player's machine; {"unavailable": why} if it cannot be read."""
    try:
        printed = player_shell.PlayerShell(player, folder).run(SCRIPT, name)
    except player_shell.ShellError as error:
        return {"unavailable": str(error)}
    return parsed(printed.text)


def parsed(text):
    found = player_shell.sections(text)
    return {**machine.facts(found), "interfaces": interfaces.facts(found)}
