#include "base/file_clone.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"

namespace tenon {

namespace {

// False when the file system shares no blocks between files.
Result<bool> reflink(const std::string& from, const std::string& to) {
  TN_ASSIGN_OR_RETURN(const FileHandle source, open_for_reading(from));
  const FileHandle target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!target.is_open()) return io_error("cannot create", to, errno);
  if (::ioctl(target.get(), FICLONE, source.get()) == 0) return true;
  ::unlink(to.c_str());
  return false;
}

}  // namespace

Result<Cloned> clone_or_link_file(const std::string& from, const std::string& to) {
  TN_ASSIGN_OR_RETURN(const bool shares_blocks, reflink(from, to));
  if (shares_blocks) return Cloned::Reflink;
  if (::link(from.c_str(), to.c_str()) == 0) return Cloned::HardLink;
  TN_ASSIGN_OR_RETURN(const Copied copied, copy_file_atomically(from, to));
  return copied == Copied::Reflink ? Cloned::Reflink : Cloned::Copy;
}

}  // namespace tenon
