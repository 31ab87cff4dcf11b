#pragma once

namespace cli {

// The text of peer.py.
extern const char* const kPeerScript;

}  // namespace cli
