#!/bin/sh
# container.sh IMAGE PROGRAM [ARG...]: plays a container for localcluster's --runtime, inside enter.sh. The program sees
# this machine's files, those of the folder IMAGE over them, and its mounts; what it writes is lost with it. Pods have a
# network each: one interface with the pod's address, routed by the surrounding namespace.
set -eu
image=$1
shift
ns=pod-$(printf %.8s "$LOCALCLUSTER_POD")
end=v-$(printf %.8s "$LOCALCLUSTER_POD")
if ip netns add "$ns" 2>/dev/null; then
	ip link add "$end" type veth peer name eth0 netns "$ns"
	ip addr add 169.254.1.1/32 dev "$end"
	ip link set "$end" up
	ip route add "$LOCALCLUSTER_POD_IP/32" dev "$end"
	ip -n "$ns" link set lo up
	ip -n "$ns" addr add "$LOCALCLUSTER_POD_IP/32" dev eth0
	ip -n "$ns" link set eth0 up
	ip -n "$ns" route add 169.254.1.1/32 dev eth0
	ip -n "$ns" route add default via 169.254.1.1 dev eth0
fi
exec ip netns exec "$ns" unshare --mount --propagation private sh -eu -c '
	image=$1
	shift
	d=$(mktemp -d /run/container.XXXXXX)
	mkdir "$d/up" "$d/work" "$d/root"
	mount -t overlay overlay -o "lowerdir=/,upperdir=$d/up,workdir=$d/work" "$d/root"
	root=$d/root
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/tmp"
	# put OUTSIDE INSIDE: a path inside is resolved there, where a symbolic link may be.
	put() {
		at=$(chroot "$root" realpath -m "$2")
		if [ -d "$1" ]; then
			chroot "$root" mkdir -p "$at"
		else
			chroot "$root" mkdir -p "$(dirname "$at")"
			chroot "$root" touch "$at"
		fi
		mount --bind "$1" "$root$at"
	}
	(cd "$image" && find . -type f) | while read -r f; do put "$image/$f" "${f#.}"; done
	while read -r inside outside; do put "$outside" "$inside"; done <"$LOCALCLUSTER_MOUNTS"
	{ echo "127.0.0.1 localhost"; cat "$LOCALCLUSTER_HOSTS"; } >"$d/hosts"
	: >"$d/resolv.conf" # there is no name server
	put "$d/hosts" /etc/hosts
	put "$d/resolv.conf" /etc/resolv.conf
	unset LOCALCLUSTER_POD LOCALCLUSTER_POD_IP LOCALCLUSTER_MOUNTS LOCALCLUSTER_HOSTS
	exec chroot "$root" "$@"' container "$image" "$@"
