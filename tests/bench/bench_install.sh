#!/bin/bash
# bench_install.sh: apps installed and upgraded all at once, what each costs (install.py has what can be set).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$(dirname "$0")/install.py" "${ALM:-build/alm}" "$work/run"
