# awk -f tags.awk HEADER...: a struct, union or enum that two headers define is two things of one name. Exits 1.
/^(struct|union|enum) [a-z_0-9]+ \{/ {
	if ($2 in where) {
		print FILENAME ":" FNR ": " $1 " " $2 " is defined in " where[$2] " too"
		bad = 1
	}
	where[$2] = FILENAME
}
END { exit bad }
