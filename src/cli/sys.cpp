// tenon sys: what Tenon is and what it found on this machine.
#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/compile/compilers.h"
#include "cli/console.h"
#include "cli/models.h"
#include "cli/text.h"

namespace cli {

namespace {

std::string spaced_list(const Json& list) {
  std::string text;
  for (const Json& item : list.items()) text += (text.empty() ? "" : " ") + item.plain();
  return text.empty() ? "-" : text;
}

class Sys final : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.flag("--clear-cache", clear_cache_, "empty the cache of compiled models");
    arguments.text("--cache-dir", cache_dir_, "DIR", "the folder of the cache (default: ~/.cache/tenon)");
  }

  Exit execute(Console& console) override {
    if (clear_cache_) return clear_cache(console);
    Json system = Json::parse(tenon::system_json());
    const int threads = make_context(console).threads();
    const std::vector<CompilerInfo> compilers = probe_compilers();
    const Json cache = Json::parse(tenon::cache_json(cache_dir_));
    if (console.is_json()) {
      system.set("threads_used", threads);
      system.set("compilers", compilers_json(compilers));
      system.set("cache", cache);
      console.print_document(system);
      return kDone;
    }
    Table table({"", ""});
    table.add({"version", system["version"].text()});
    table.add({"cpu", fmt::format("{} ({})", system["cpu"]["model"].text(), system["cpu"]["architecture"].text())});
    table.add({"features", spaced_list(system["cpu"]["features"])});
    table.add({"threads",
               fmt::format("{} used, {}, quota {:.3g}", threads, counted(system["threads"]["cores"].integer(), "core"),
                           system["threads"]["quota"].number())});
    table.add({"memory", human_bytes(system["memory"]["bytes"].integer())});
    table.add({"providers", spaced_list(system["providers"])});
    for (const CompilerInfo& info : compilers)
      table.add({&info == compilers.data() ? "compilers" : "", info.name + ": " + info.state()});
    table.add({"operators", system["operators"].plain()});
    std::string libraries;
    for (const auto& [name, version] : system["libraries"].entries())
      libraries += (libraries.empty() ? "" : ", ") + name + " " + version.plain();
    table.add({"libraries", libraries});
    table.add({"cache", cache_text(cache)});
    console.print(table.text());
    return kDone;
  }

 private:
  Exit clear_cache(Console& console) const {
    const Json cleared = Json::parse(tenon::clear_cache(cache_dir_));
    if (console.is_json())
      console.print_document(cleared);
    else
      console.print(fmt::format("emptied the cache {}: freed {}\n", printable(cleared["folder"].text()),
                                human_bytes(cleared["freed_bytes"].integer())));
    return kDone;
  }

  static std::string cache_text(const Json& cache) {
    if (cache["folder"].text().empty()) return "none: neither XDG_CACHE_HOME nor HOME names a folder";
    return fmt::format("{}: {}, {}, {} of at most {}", printable(cache["folder"].text()),
                       counted(cache["models"].integer(), "compiled model"),
                       counted(cache["graphs"].integer(), "graph"), human_bytes(cache["bytes"].integer()),
                       human_bytes(cache["most_bytes"].integer()));
  }

  bool clear_cache_ = false;
  std::string cache_dir_;
};

}  // namespace

CommandInfo sys_command() {
  return {"sys", "Show the version, the CPU and its features, threads, providers, compilers and libraries.",
          "  tenon sys\n"
          "  tenon sys --clear-cache\n"
          "  tenon sys --format json\n",
          []() -> std::unique_ptr<Command> { return std::make_unique<Sys>(); }};
}

}  // namespace cli
