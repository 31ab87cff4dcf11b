#include <cstdio>
#include <tenon/tenon.hpp>

int main() {
  std::printf("%s\n", tn_version());
  return 0;
}
