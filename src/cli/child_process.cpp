#include "cli/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>

#include "cli/signals.h"

extern char** environ;

namespace cli {

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
  ::posix_spawnattr_setsigmask(&attributes, &inherited_signal_mask());
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

// False when nothing came for too long.
bool read_all(int end, std::chrono::seconds limit, std::string& output) {
  char buffer[4096];
  auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{end, POLLIN, 0};
    const auto wait = std::clamp<int64_t>(left.count(), 0, 1'000'000);
    const int ready = ::poll(&waiting, 1, static_cast<int>(wait));
    if (ready == 0 && left.count() <= wait) return false;
    if (ready <= 0) continue;
    const ssize_t got = ::read(end, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EINTR)) return true;
    if (got > 0) output.append(buffer, static_cast<size_t>(got));
    deadline = std::chrono::steady_clock::now() + limit;
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
    if (errno != EINTR) return "was lost";
  if (WIFSIGNALED(status)) return fmt::format("crashed ({})", ::strsignal(WTERMSIG(status)));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace

ChildResult run_child(std::vector<std::string> arguments, std::chrono::seconds limit) {
  ChildResult result;
  int ends[2];
  arguments.insert(arguments.begin(), "/proc/self/exe");
  if (::pipe2(ends, O_CLOEXEC) != 0) return {"", "could not be started", false};
  const pid_t pid = start(arguments, ends[1]);
  ::close(ends[1]);
  if (pid != 0) result.timed_out = !read_all(ends[0], limit, result.output);
  ::close(ends[0]);
  if (result.timed_out) ::kill(-pid, SIGKILL);
  result.problem = pid == 0 ? "could not be started" : wait_for(pid);
  return result;
}

void kill_children() {
  const std::lock_guard lock(children().mutex);
  children().closed = true;
  for (const pid_t pid : children().running) ::kill(-pid, SIGKILL);
}

void end_with_parent(int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have ended before that.
  if (::getppid() != parent) ::_exit(1);
}

}  // namespace cli
