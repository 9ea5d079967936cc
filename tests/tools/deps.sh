#!/bin/bash
# SPDX-License-Identifier: MIT
# deps.sh PACKAGE...: installs the Debian packages that are missing when root, else says which and how, exit 1.
set -u

if ! command -v dpkg-query >/dev/null; then
	echo "this system has no dpkg; what is needed, by its Debian names: $*" >&2
	exit 0
fi
missing=()
for p; do
	case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) in
	'install ok installed') ;;
	*) missing+=("$p") ;;
	esac
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "missing packages; as root: apt-get install ${missing[*]}" >&2
	exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
echo "installing ${missing[*]}"
apt-get -qq update || echo "apt-get update failed; trying with the lists that are here" >&2
apt-get -qq -y install --no-install-recommends "${missing[@]}" </dev/null >"$log" 2>&1
rc=$?
[ $rc = 0 ] || tail -n 20 "$log" >&2
if [ $rc != 0 ]; then
	echo "apt-get install ${missing[*]} failed" >&2
	exit 1
fi
