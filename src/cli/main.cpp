#include <csignal>
#include <cstdio>
#include <string_view>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/compile/check_staged.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "tenon/tenon.hpp"

namespace {

using namespace cli;

// In the order of the help.
std::vector<CommandInfo> commands() {
  return {compile_command(), build_command(),  optimize_command(), analyze_command(), weights_command(),
          run_command(),     verify_command(), perf_command(),     inspect_command(), sys_command()};
}

// The format, even if the rest of the command line is wrong.
bool wants_json(int count, char** values) {
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = values[i];
    if (argument == "--format=json") return true;
    if (argument == "--format" && i + 1 < count && std::string_view(values[i + 1]) == "json") return true;
  }
  return false;
}

int fail(Console& console, int code, const std::string& message) {
  wait_if_ending();
  console.discard();
  console.end_progress();
  console.error(message);
  if (console.is_json()) console.print_document(Json(Json::Object{{"error", message}, {"exit_code", code}}));
  console.finish();
  return code;
}

// While it lives, people see what the library says during its calls.
class Listening {
 public:
  explicit Listening(const Console& console) {
    tenon::set_message_handler([&console](const std::string& text) { console.warning(text); });
  }
  ~Listening() { tenon::set_message_handler({}); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
};

int run(int count, char** values) {
  Request request;
  try {
    parse_arguments(count, values, commands(), request);
  } catch (const Failure& failure) {
    if (wants_json(count, values)) request.settings.format = "json";
    Console console(request.settings);
    return fail(console, failure.code(), failure.what());
  }
  Console console(request.settings);
  const Listening listening(console);
  try {
    Exit code = kDone;
    if (request.command)
      code = request.command->execute(console);
    else
      console.print(request.text);
    return console.finish() ? code : kFailed;
  } catch (const Failure& failure) {
    return fail(console, failure.code(), failure.what());
  } catch (const tenon::Error& error) {
    return fail(console, kFailed, error.what());
  } catch (const std::bad_alloc&) {
    return fail(console, kFailed, "out of memory");
  } catch (const std::exception& error) {
    return fail(console, kFailed, std::string("unexpected: ") + error.what());
  }
}

}  // namespace

int main(int count, char** values) {
  occupy_standard_streams();
  // Whoever started us may have chosen to ignore it; a closed pipe ends a command line tool quietly.
  std::signal(SIGPIPE, SIG_DFL);
  // A file that may not grow further is an error with a reason, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  if (count >= 5 && std::string_view(values[1]) == kCheckStaged)
    return check_staged(values[2], values[3], values[4], {values + 5, values + count});
  handle_ending_signals();
  int code = kFailed;
  try {
    code = run(count, values);
  } catch (const std::bad_alloc&) {
    // Too little even for a message that is put together.
    std::fputs("tenon: out of memory\n", stderr);
  }
  wait_if_ending();
  return code;
}
