#include "alm/main/protection.h"

#include "alm/cli/term.h"
#include "alm/io/process.h"

void print_protection(const char *who, struct sandbox *s)
{
	char text[PROCESS_TEXT];
	const char *missing = s ? sandbox_process_missing(s) : "";
	process_describe(text, sizeof(text));
	term_print("%s: %s", who, text);
	if (s)
		term_print("; charts render in a sandbox%s%s", *missing ? " without " : "",
			   missing);
	term_print("\n");
}
