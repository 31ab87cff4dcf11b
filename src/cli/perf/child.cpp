#include "cli/perf/child.h"

#include <fmt/format.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/console.h"
#include "cli/failure.h"

namespace cli {

namespace {

// Between fork and exec: only calls that are safe while other threads hold locks.
[[noreturn]] void become(int socket, char* const* command, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(socket, STDIN_FILENO);
  ::dup2(socket, STDOUT_FILENO);
  if (::getppid() == parent) ::execvp(command[0], command);
  ::_exit(127);
}

}  // namespace

Child::Child(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0) {
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(ends[1], words.data(), parent);
    ::close(ends[1]);
    socket_ = ends[0];
  }
  if (pid_ <= 0) {
    ::close(socket_);
    throw Failure(kFailed, fmt::format("'{}' could not be started", command[0]));
  }
}

Child::~Child() {
  ::close(socket_);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::write_line(const std::string& line) {
  const std::string text = line + "\n";
  // A program that has ended is noticed when its answer is read.
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::send(socket_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

std::string Child::read_line() {
  ::kill(pid_, SIGCONT);
  std::array<char, 4096> buffer;
  while (rest_.find('\n') == std::string::npos) {
    const ssize_t count = ::read(socket_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return "";
    rest_.append(buffer.data(), static_cast<size_t>(count));
  }
  ::kill(pid_, SIGSTOP);
  const size_t end = rest_.find('\n');
  std::string line = rest_.substr(0, end);
  rest_.erase(0, end + 1);
  return line;
}

}  // namespace cli
