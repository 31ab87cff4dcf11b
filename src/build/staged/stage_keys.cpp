#include "build/staged/stage_keys.h"

#include "base/folder.h"
#include "base/hash.h"
#include "build/cache/compile_cache.h"
#include "build/optimize_in_memory.h"

namespace tenon::build {

namespace {

// A hash of texts, each of which counts on its own.
class Key {
 public:
  Key& add(const std::string& part) {
    hash_.add(hash_bytes(part).hex());
    return *this;
  }
  Key& add(bool part) { return add(std::string(part ? "1" : "0")); }
  Key& add(const std::vector<std::string>& parts) {
    for (const std::string& part : parts) add(part);
    return add(std::to_string(parts.size()));
  }
  std::string text() const { return hash_.value().hex(); }

 private:
  StreamingHash hash_;
};

std::string capability_key(const ModelRequest& own, const BuildRequest& request) {
  if (!request.optimize.is_on) return "as it is";
  CapabilitySwitches switches = own.capabilities;
  switches.insert(request.optimize.capabilities.begin(), request.optimize.capabilities.end());
  std::vector<std::string> enable, disable;
  for (const auto& [name, on] : switches) (on ? enable : disable).push_back(name);
  const auto choice = choose_capabilities(enable, disable);
  // Names that do not exist are refused before anything is done.
  std::string key = choice.ok() ? passes_key(choice->set) : "";
  if (request.staged.auto_enable) key += fmt::format("; suggested ones in {} rounds", request.staged.most_rounds);
  return key;
}

}  // namespace

void set_keys(StagedModel& model, const ModelRequest& own, const BuildRequest& request, const std::string& file) {
  const std::string passes = capability_key(own, request);
  Key import, normal, optimize, analyze, compile;
  for (const FileRecord& record : model.files) import.add(file_name_of(record.path)).add(record.hash);
  import.add(request.freeze_all).add(request.frozen);
  if (!model.structure.empty()) {
    normal.add(model.structure).add(passes).add(request.freeze_all).add(request.frozen);
    optimize.add(normal.text());
    // A file of the optimized model may have the weights inside.
    if (request.staged.keep_optimized || !request.staged.compile) optimize.add(import.text());
    model.at(StageName::Optimize).key = optimize.text();
    const std::string provider = own.provider.empty() ? request.provider : own.provider;
    analyze.add(normal.text()).add(provider).add(compile_version()).add(request.staged.compile);
    model.at(StageName::Analyze).key = analyze.text();
    compile.add(import.text()).add(passes).add(compile_version()).add(request.compiler).add(provider).add(file);
    compile.add(request.sources).add(request.pins).add(request.defer_weights).add(request.embed);
    compile.add(request.weights_name);
    model.at(StageName::Compile).key = compile.text();
  }
  model.at(StageName::Import).key = import.text();
}

}  // namespace tenon::build
