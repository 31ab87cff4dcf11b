#pragma once

#include "ir/rewrite.h"

// The rules that are off by default, each in its own file.
namespace tenon {}
