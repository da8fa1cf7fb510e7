#!/bin/sh
# The fixed sample of make mutate: each of these bugs is put into the product, and its test notices.
exec python3 "$(dirname "$0")/mutate.py" --sample
