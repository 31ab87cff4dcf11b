#include "base/cpu.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace tenon {

namespace {

// The value of the first "key : value" line of /proc/cpuinfo.
std::string cpuinfo_field(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    return colon == std::string::npos || colon + 2 > line.size() ? "" : line.substr(colon + 2);
  }
  return "";
}

double first_number(const std::string& path) {
  std::ifstream file(path);
  double value = -1;
  file >> value;
  return file ? value : -1;
}

// The container's CPU limit in cores (cgroup v2, then v1), or 0 when there is none.
double cgroup_quota() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period) return quota == "max" || period <= 0 ? 0 : std::stod(quota) / period;
  const double v1 = first_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const double v1_period = first_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return v1 > 0 && v1_period > 0 ? v1 / v1_period : 0;
}

// The container's memory limit (cgroup v2, then v1), or nothing when there is none.
std::optional<int64_t> cgroup_memory() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (const double bytes = first_number(path); bytes > 0 && bytes < 0x1p60) return static_cast<int64_t>(bytes);
  return std::nullopt;
}

}  // namespace

int64_t machine_memory() {
  const int64_t physical = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return std::min(physical, cgroup_memory().value_or(physical));
}

CpuInfo cpu_info() {
  CpuInfo info;
  utsname system{};
  if (uname(&system) == 0) info.architecture = system.machine;
  info.model = cpuinfo_field("model name");
  const std::string flags = " " + cpuinfo_field("flags") + cpuinfo_field("Features") + " ";
  for (const char* name : {"sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512bw", "avx512vl", "avx512_vnni",
                           "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16", "asimd", "asimddp", "sve", "sve2"})
    if (flags.find(" " + std::string(name) + " ") != std::string::npos) info.features.emplace_back(name);
  cpu_set_t set;
  CPU_ZERO(&set);
  info.cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const double quota = cgroup_quota();
  info.quota = quota > 0 ? std::min<double>(quota, info.cores) : info.cores;
  return info;
}

}  // namespace tenon
