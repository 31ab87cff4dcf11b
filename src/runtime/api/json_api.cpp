// What the runtime tells as JSON: the machine, and profiles of runs.
#include <utf8proc.h>
#include <xxhash.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "executor/limits.h"
#include "providers/machine_speed.h"
#include "runtime/api/handles.h"

using namespace tenon;
using nlohmann::json;

namespace {

// What Tenon is built from, by name and version.
json libraries() {
  auto dotted = [](auto... parts) {
    std::string text;
    ((text += (text.empty() ? "" : ".") + std::to_string(parts)), ...);
    return text;
  };
  return {
      {"fmt", dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"nlohmann-json", dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"utf8proc", utf8proc_version()},
      {"xxhash", dotted(XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE)},
      {"zlib", zlibVersion()}};
}

}  // namespace

extern "C" {

tn_status* tn_system_json(char** text) {
  return api::guarded([&]() -> Status {
    if (!text) return invalid_argument("json must not be NULL");
    const CpuInfo cpu = cpu_info();
    json isas = json::array();
    for (const Isa isa : usable_isas()) isas.push_back(isa_name(isa));
    json result = {
        {"version", TENON_VERSION},
        {"cpu", {{"model", cpu.model}, {"architecture", cpu.architecture}, {"features", cpu.features}, {"isas", isas}}},
        {"threads", {{"cores", cpu.cores}, {"quota", cpu.quota}}},
        {"memory", {{"bytes", machine_memory()}, {"limit", default_memory_limit()}}},
        {"providers", json::array({"cpu", "cpu_exact", "reference"})},
        {"libraries", libraries()},
        {"operators", all_ops().size()}};
    *text = api::copy_text(result.dump(2));
    return {};
  });
}

tn_status* tn_machine_speed_json(tn_context* context, char** text) {
  return api::guarded([&]() -> Status {
    if (!text) return invalid_argument("json must not be NULL");
    const std::shared_ptr<ThreadPool> pool = api::context_pool(context);
    const Isa isa = api::context_or_default(context).isa;
    TN_ASSIGN_OR_RETURN(const MachineSpeed speed, measure_machine_speed(pool.get(), isa));
    const json result = {{"threads", tn_context_threads(context)},
                         {"cpu_isa", isa_name(isa)},
                         {"flops_per_second", speed.flops},
                         {"bytes_per_second", speed.bytes}};
    *text = api::copy_text(result.dump(2));
    return {};
  });
}

tn_status* tn_run_profile_json(const tn_run* run, char** text) {
  return api::guarded([&]() -> Status {
    if (!run || !text) return invalid_argument("run and json must not be NULL");
    json steps = json::array();
    for (const StepTime& s : run->steps)
      steps.push_back({{"name", s.name},
                       {"kernel", s.family},
                       {"variant", s.variant},
                       {"depth", s.depth},
                       {"start_us", static_cast<double>(s.start_ns) / 1e3},
                       {"duration_us", static_cast<double>(s.duration_ns) / 1e3},
                       {"flops", s.work.flops < 0 ? json() : json(s.work.flops)},
                       {"bytes", s.work.bytes},
                       {"dims", s.dims}});
    *text = api::copy_text(steps.dump(2, ' ', false, json::error_handler_t::replace));
    return {};
  });
}

}  // extern "C"
