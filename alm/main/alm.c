/* main: wiring only. */
#include <stdio.h>

int main(void)
{
	printf("alm %s\n", ALM_VERSION);
	return 0;
}
