# api_types.awk: api_types.txt (its head says the form) -> the constant tables of api_types.h, in C. Texts are offsets into
# one array without relocations, so that what nobody asks for is never read into memory.
function text(s) {
	if (!(s in at)) {
		at[s] = pool_len
		pool[n_pool++] = s
		pool_len += length(s) + 1
	}
	return at[s]
}
function fail(what) {
	print "api_types.txt:" NR ": " what > "/dev/stderr"
	bad = 1
	exit 1
}
BEGIN {
	n_fields = n_types = n_kinds = n_pool = pool_len = 0
	split("struct string bool int32 int64 float64 bytes Quantity IntOrString Time MicroTime FieldsV1 RawExtension JSON " \
	      "SchemaOrArray SchemaOrBool SchemaOrStrings", names, " ")
	for (i in names)
		scalar[names[i]] = i - 1
	text("")
}
/^#/ || NF == 0 { next }
/^kind / {
	kind_gv[n_kinds] = text($2)
	kind_name[n_kinds] = text($3)
	kind_type[n_kinds++] = $4
	next
}
/^[a-z]/ {
	if (n_types && !(last_type < $1))
		fail("types are not sorted: " $1)
	last_type = $1
	type_index[$1] = n_types
	type_name[n_types] = text($1)
	type_first[n_types] = n_fields
	type_flags[n_types++] = $2 == "atomic" ? 2 : 0
	last_field = ""
	next
}
{
	if (last_field > $1)
		fail("fields are not sorted: " $1)
	last_field = $1
	marks = 0
	shape = $3
	while (match(shape, /^(\*|\[\]|\{\})/)) {
		mark = substr(shape, 1, RLENGTH)
		marks += mark == "*" ? 1 : mark == "[]" ? 2 : 4
		shape = substr(shape, RLENGTH + 1)
	}
	flags = $1 == "+" ? 16 : 0
	keys = merge = deflt = named = 0
	for (i = 4; i <= NF; i++) {
		eq = index($i, "=")
		word = eq ? substr($i, 1, eq - 1) : $i
		value = substr($i, eq + 1)
		if (word == "required") flags += 1
		else if (word == "always") flags += 64
		else if (word == "omitted") flags += 128
		else if (word == "atomic") flags += 2
		else if (word == "set") flags += 4
		else if (word == "retainKeys") flags += 8
		else if (word == "map") keys = text(value)
		else if (word == "merge") { merge = text(value); flags += 32 }
		else if (word == "default") deflt = text(value)
		else if (word == "go") named = text(value)
		else fail("unknown word " word)
	}
	field_of[n_fields] = shape
	field_named[n_fields] = named
	field[n_fields++] = text($1 == "+" ? "" : $1) ", OF, " keys ", " merge ", " deflt ", " $2 ", " \
		(shape in scalar ? scalar[shape] : 0) ", " marks ", " flags
}
END {
	if (bad)
		exit 1
	print "/* Made by api_types.awk from api_types.txt. */"
	print "#include \"alm/obj/schema/api_types.h\"\n"
	print "const struct api_field api_fields[] = {"
	for (i = 0; i < n_fields; i++) {
		row = field[i]
		of = field_named[i]
		if (!(field_of[i] in scalar)) {
			if (!(field_of[i] in type_index))
				fail("no type " field_of[i])
			of = type_index[field_of[i]]
		}
		sub(/OF/, of, row)
		print "\t{" row "},"
	}
	for (i = 0; i < n_kinds; i++)
		if (kind_type[i] in type_index && type_flags[type_index[kind_type[i]]] % 2 == 0)
			type_flags[type_index[kind_type[i]]] += 1
	print "};\nconst struct api_type api_types[] = {"
	for (i = 0; i < n_types; i++)
		print "\t{" type_name[i] ", " type_first[i] ", " (i + 1 < n_types ? type_first[i + 1] : n_fields) - type_first[i] ", " type_flags[i] "},"
	print "};\nconst size_t api_n_types = " n_types ";\nconst struct api_kind api_kinds[] = {"
	for (i = 0; i < n_kinds; i++) {
		if (!(kind_type[i] in type_index))
			fail("no type " kind_type[i])
		print "\t{" kind_gv[i] ", " kind_name[i] ", " type_index[kind_type[i]] "},"
	}
	print "};\nconst size_t api_n_kinds = " n_kinds ";\nconst char api_texts[] = {"
	if (pool_len > 65535)
		fail("texts take more than 65535 bytes")
	for (i = 0; i < n_pool; i++) {
		line = "\t"
		for (j = 1; j <= length(pool[i]); j++) {
			c = substr(pool[i], j, 1)
			line = line "'" (c == "'" || c == "\\" ? "\\" : "") c "',"
		}
		print line "0,"
	}
	print "};"
}
