# awk -f specs.awk tests/specs/*.md tests/PROGRAMME.md pass=2 FILE...
# A citation names what is there: `X.md 7.1`, `X.md 3, 6`, `X.md section 2`, `X.md "Words"`, `PROGRAMME.md row 7`; and in
# e2e tests "A15 ..." is a line of capabilities.md. Prints what is not as file:line: text and exits 1 if there was one.

function report(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }

# The citation of page that goes on with rest: words in quotes, or numbers.
function cited(page, rest,    key, words) {
	if (match(rest, /^`? "[^"]+"/)) {
		words = substr(rest, RSTART, RLENGTH)
		sub(/^`? "/, "", words)
		sub(/"$/, "", words)
		if (!index(text_of[page], words))
			report(page ".md has nowhere the words \"" words "\"")
		return
	}
	while (match(rest, /^(`? |`?,? (sections?|rows?|and) |, )[0-9]+(\.[0-9]+)*/)) {
		key = substr(rest, 1, RLENGTH)
		rest = substr(rest, RLENGTH + 1)
		sub(/^[^0-9]*/, "", key)
		if (!((page, key) in section))
			report(page ".md has no section " key)
	}
}

# What ends in a citation that the next line may go on with is kept in tail.
function citations(line,    path, page) {
	line = tail line
	tail = ""
	if (match(line, /[A-Za-z\/-]+\.md`?( sections?| rows?|( [0-9.]+,)+)?$/)) {
		tail = substr(line, RSTART) " "
		line = substr(line, 1, RSTART - 1)
	}
	while (match(line, /[A-Za-z0-9_.\/-]*[A-Za-z]\.md/)) {
		path = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		page = path
		sub(/^(tests\/)?(specs\/)?/, "", page)
		sub(/\.md$/, "", page)
		if (page in text_of)
			cited(page, line)
		else if (path !~ /[A-Z\/]/)
			report(path " is no file of tests/specs")
	}
}

FNR == 1 {
	tail = ""
	page = FILENAME
	sub(/.*\//, "", page)
	sub(/\.md$/, "", page)
}
pass != 2 {
	if (page == "README")
		next
	text_of[page] = text_of[page] $0 "\n"
	if (match($0, /^#+ [0-9]+(\.[0-9]+)*/) || match($0, /^\| A?[0-9]+ /)) {
		key = substr($0, 1, RLENGTH)
		gsub(/[#| ]/, "", key)
		section[page, key] = 1
	}
	next
}
{
	line = $0
	sub(/^[ \t]*(\/\*+|\*+\/?|#+|\/\/)?[ \t]*/, "", line)
	sub(/[ \t]*\*\/[ \t]*$/, "", line)
	citations(line)
}
FILENAME ~ /^tests\/e2e\// {
	line = $0
	while (match(line, /"A[0-9]+ /)) {
		key = substr(line, RSTART + 1, RLENGTH - 2)
		line = substr(line, RSTART + RLENGTH)
		if (!(("capabilities", key) in section))
			report("capabilities.md has no line " key)
	}
}
END { exit bad }
