#include "cli/option_flags.h"

#include <array>
#include <charconv>

namespace cli {

namespace {

enum class Use { Load, Session, SessionAndInputs };

struct Known {
  const char *name, *value, *help;
  Use use;
};
// The options of tenon.h that make sense for one command; see tn_options_set.
constexpr Known kKnown[] = {
    {"memory_limit", "N", "memory limit in bytes, separately for the inputs and for a run (default: 3/4 of the memory)",
     Use::SessionAndInputs},
    {"loop_limit", "N", "limit on the iterations of all loops of a run (default: 10000000)", Use::Session},
    {"cached_bindings", "N", "number of input shape sets that stay prepared (default: 64)", Use::Session},
    {"keep_subnormals", "1|0", "1: numbers below the smallest normal one are no zeros for fast kernels (default: 0)",
     Use::Session},
    {"max_nodes", "N", "limit on the nodes of a model, with its functions expanded (default: 5000000)", Use::Load},
    {"max_nesting", "N", "limit on the nesting of graphs and types (default: 64)", Use::Load},
    {"freeze_inputs", "1|0", "turn initializers that are also listed as inputs into weights (default: 0)", Use::Load},
    {"map", "1|0", "1: map files into memory; 0: copy them (default: 1)", Use::Load},
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

template <class Wanted>
void add(const KeyValues& given, tenon::Options& options, Wanted&& wanted) {
  for (const Known& known : kKnown)
    if (auto it = given.find(known.name); it != given.end() && wanted(known.use)) options.set(it->first, it->second);
}

}  // namespace

void OptionFlags::declare(Arguments& arguments, Command command) {
  std::vector<KnownKey> keys;
  for (const Known& known : kKnown)
    if (command == Command::Runs || known.use == Use::Load) keys.push_back({known.name, known.value, known.help});
  arguments.key_values("--option", given_, keys, "a limit or setting of the library; '--option help' lists them");
}

tenon::Options OptionFlags::for_loading() const {
  tenon::Options options;
  add(given_, options, [](Use use) { return use == Use::Load; });
  return options;
}
void OptionFlags::add_for_session(tenon::Options& options) const {
  add(given_, options, [](Use use) { return use != Use::Load; });
}
void OptionFlags::add_for_inputs(tenon::Options& options) const {
  add(given_, options, [](Use use) { return use == Use::SessionAndInputs; });
}

std::optional<int64_t> OptionFlags::memory_limit() const {
  auto it = given_.find("memory_limit");
  if (it == given_.end()) return std::nullopt;
  int64_t bytes = 0;
  std::from_chars(it->second.data(), it->second.data() + it->second.size(), bytes);
  return bytes;
}

std::string with_flags(std::string message) {
  for (const Known& known : kKnown)
    for (const char* prefix : {"the option '", "option '"})
      replace_all(message, prefix + std::string(known.name) + "'", "--option " + std::string(known.name));
  replace_all(message, "the option 'source_dir'", "--source-dir");
  replace_all(message, "; freeze_inputs makes", "; --option freeze_inputs=1 makes");
  replace_all(message, "set the option 'overwrite' to replace it", "add --overwrite to replace it");
  return message;
}

}  // namespace cli
