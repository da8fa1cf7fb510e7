#!/bin/sh
# deps.sh SUDO PACKAGE...: installs the Debian packages that are missing. "kubectl" stands for the
# program: the one on PATH, else Debian's kubernetes-client. Installing openssh-server starts no server.
set -eu
sudo=$1
shift
missing=
for p in "$@"; do
	if [ "$p" = kubectl ]; then
		command -v kubectl >/dev/null || missing="$missing kubernetes-client"
	elif ! dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed'; then
		missing="$missing $p"
		if [ "$p" = openssh-server ]; then
			$sudo mkdir -p /etc/ssh
			$sudo touch /etc/ssh/sshd_not_to_be_run # Debian's word for it
		fi
	fi
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
