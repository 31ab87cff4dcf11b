#include "cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace cli {

namespace {

bool had_no_stdout = false;

}  // namespace

bool stdout_was_closed() { return had_no_stdout; }

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void occupy_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    if (descriptor == STDOUT_FILENO) had_no_stdout = true;
    // The lowest free number is this one, as those below are open.
    if (::open("/dev/null", O_RDWR) < 0) std::abort();
  }
}

}  // namespace cli
