// The side of validation that starts processes.
#include "cli/compile/validate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

extern char** environ;

namespace cli {

namespace {

Json request_for(const StagedCheck& check) {
  Json frozen(Json::Array{});
  for (const std::string& name : check.frozen) frozen.push(name);
  return Json::Object{{"threads", check.threads},    {"samples", check.samples}, {"seed", check.seed},
                      {"memory", check.memory},      {"cpu_isa", check.cpu_isa}, {"freeze_all", check.freeze_all},
                      {"frozen", std::move(frozen)}, {"rtol", check.rtol},       {"atol", check.atol}};
}

Json verdict(const char* word, const std::string& message) {
  return Json::Object{{"verdict", word}, {"message", message}, {"outputs", Json::Array{}}};
}

// A child process whose standard output is read to its end.
class Child {
 public:
  explicit Child(std::vector<std::string> texts) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    texts.insert(texts.begin(), "/proc/self/exe");
    std::vector<char*> arguments;
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    started_ = ::posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (started_) read_all(ends[0]);
    ::close(ends[0]);
  }

  const std::string& output() const { return output_; }
  // "" when it ended well, else how it ended.
  std::string wait() {
    if (!started_) return "could not be started";
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0)
      if (errno != EINTR) return "was lost";
    if (WIFSIGNALED(status)) return fmt::format("crashed ({})", ::strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with code {}", WEXITSTATUS(status));
  }

 private:
  void read_all(int end) {
    char buffer[4096];
    for (ssize_t got; (got = ::read(end, buffer, sizeof buffer)) != 0;) {
      if (got < 0 && errno != EINTR) return;
      if (got > 0) output_.append(buffer, static_cast<size_t>(got));
    }
  }

  pid_t pid_ = -1;
  bool started_ = false;
  std::string output_;
};

}  // namespace

Json validate_staged(const StagedCheck& check) {
  const auto start = std::chrono::steady_clock::now();
  // Paths need not be UTF-8, which is all that JSON takes.
  std::vector<std::string> arguments = {std::string(kCheckStaged), request_for(check).dump(), check.model,
                                        check.context};
  for (const std::string& argument : check.flags.to_arguments()) arguments.push_back(argument);
  Child child(std::move(arguments));
  const std::string end = child.wait();
  Json result;
  try {
    result = end.empty() ? Json::parse(child.output())
                         : verdict("failed", "the process that tried the compiled model " + end);
  } catch (const std::exception&) {
    result = verdict("failed", "the process that tried the compiled model gave no result");
  }
  result.set("seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return result;
}

}  // namespace cli
