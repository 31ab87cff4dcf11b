#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

struct CpuInfo {
  std::string model;
  std::string architecture;
  std::vector<std::string> features;  // the ones kernels can use
  int cores = 1;                      // this process may run on
  double quota = 0;                   // cores a container allows, or `cores` when it sets no limit
};

CpuInfo cpu_info();

// Bytes of memory that this process may use: the machine's, or the container's limit.
int64_t machine_memory();

}  // namespace tenon
