#!/bin/sh
# SPDX-License-Identifier: MIT
# systemd_system: fresh namespaces -> a system whose first process is systemd; what is installed
# from a build folder is in /usr/local. $1: the build folder; $2: mapi.conf; $3: a capture, which is
# always /usr/local/share/capture there. Started by mapi_systemd_test.py. Nothing outside is
# changed: all writable file systems are in memory.
set -eu
writable='/var /etc /usr/local'
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /mnt
for folder in $writable; do
    mkdir -p "/mnt/upper$folder" "/mnt/work$folder"
done
for folder in /var /etc /usr/local; do
    mount -t overlay -o "lowerdir=$folder,upperdir=/mnt/upper$folder,workdir=/mnt/work$folder" overlay "$folder"
done
cmake --install "$1" --prefix /usr/local >/dev/null
cp "$2" /etc/mapi.conf
cp "$3" /usr/local/share/capture
: >/etc/fstab
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /tmp
# Of the system's own services there is only the journal: others would configure the machine.
for wants in /lib/systemd/system/*.target.wants /etc/systemd/system; do
    mount -t tmpfs tmpfs "$wants"
done
umount -R /sys/fs/cgroup 2>/dev/null || :
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -o remount,bind,ro /
mount -o remount,bind,ro /dev
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
ip link set lo up
mkdir -p /run/lock /run/systemd/system
cp /usr/local/lib/systemd/system/mapid.* /run/systemd/system/
printf '[Unit]\nRequires=mapid.socket\nWants=systemd-journald.service\n' >/run/systemd/system/mapid-test.target
export container=netslice
exec /lib/systemd/systemd --system --unit=mapid-test.target --log-target=journal
