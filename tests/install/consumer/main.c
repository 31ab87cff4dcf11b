#include <stdio.h>
#include <tenon/tenon.h>

int main(void) {
  printf("%s\n", tn_version());
  return 0;
}
