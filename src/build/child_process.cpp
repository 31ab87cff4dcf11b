#include "build/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>

extern char** environ;

namespace tenon::build {

namespace {

struct Children {
  std::mutex mutex;
  std::set<pid_t> running;
  bool closed = false;
};

// Never destroyed: the thread that ends the program may outlive other statics.
Children& children() {
  static auto* all = new Children;
  return *all;
}

// 0 when it could not be started.
pid_t start(std::vector<std::string>& arguments, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  // What this thread has blocked is its own business: the child must be able to end.
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  std::vector<char*> texts;
  for (std::string& argument : arguments) texts.push_back(argument.data());
  texts.push_back(nullptr);
  pid_t pid = 0;
  {
    const std::lock_guard lock(children().mutex);
    if (children().closed || ::posix_spawn(&pid, texts[0], &actions, &attributes, texts.data(), environ) != 0) pid = 0;
    if (pid != 0) children().running.insert(pid);
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

using Clock = std::chrono::steady_clock;

enum class Reading { Ended, Silent, Cancelled };

Reading read_all(int end, std::chrono::milliseconds limit, const std::atomic<bool>* cancelled, std::string& output) {
  // How long a wish to cancel may wait.
  constexpr int64_t kGlance = 50, kLongest = 1'000'000;
  char buffer[4096];
  auto deadline = Clock::now() + limit;
  for (;;) {
    if (cancelled && *cancelled) return Reading::Cancelled;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{end, POLLIN, 0};
    const auto wait = std::clamp<int64_t>(left, 0, cancelled ? kGlance : kLongest);
    const int ready = ::poll(&waiting, 1, static_cast<int>(wait));
    if (ready == 0 && left <= wait) return Reading::Silent;
    if (ready <= 0) continue;
    const ssize_t got = ::read(end, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EINTR)) return Reading::Ended;
    if (got > 0) output.append(buffer, static_cast<size_t>(got));
    deadline = Clock::now() + limit;
  }
}

std::string wait_for(pid_t pid) {
  int status = 0;
  // Not reaped yet, so that nobody else has the number while it is among those that may be killed.
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  {
    const std::lock_guard lock(children().mutex);
    children().running.erase(pid);
  }
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return "disappeared";
  if (WIFSIGNALED(status)) return fmt::format("crashed ({})", ::strsignal(WTERMSIG(status)));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

ChildResult run_child(const std::string& program, std::vector<std::string> arguments, std::chrono::milliseconds limit,
                      const std::atomic<bool>* cancelled) {
  ChildResult result;
  int ends[2];
  arguments.insert(arguments.begin(), program);
  if (::pipe2(ends, O_CLOEXEC) != 0) return {"", "could not be started", false};
  const pid_t pid = start(arguments, ends[1]);
  ::close(ends[1]);
  const Reading reading = pid == 0 ? Reading::Ended : read_all(ends[0], limit, cancelled, result.output);
  ::close(ends[0]);
  if (reading != Reading::Ended) ::kill(-pid, SIGKILL);
  result.timed_out = reading == Reading::Silent;
  result.problem = pid == 0 ? "could not be started" : wait_for(pid);
  return result;
}

void kill_children() {
  const std::lock_guard lock(children().mutex);
  children().closed = true;
  for (const pid_t pid : children().running) ::kill(-pid, SIGKILL);
}

}  // namespace tenon::build
