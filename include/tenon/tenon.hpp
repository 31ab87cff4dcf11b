// Tenon for C++20: the C interface (tenon.h) with owners instead of handles and exceptions instead of status codes.
//
//   tenon::Model model = tenon::Model::load("net.onnx");
//   tenon::Session session(model);
//   std::vector<float> x(12);
//   auto outputs = session.run({tenon::Value::tensor<float>({3, 4}, x)});
//   std::span<const float> y = outputs[0].data<float>();
//
// Every type is movable and owns its handle. Errors throw tenon::Error. Threads: as in tenon.h.
//
// This header has everything; each of those it includes can be used alone.
#pragma once

#include "tenon/artifact.hpp"
#include "tenon/build.hpp"
#include "tenon/context_files.hpp"
#include "tenon/error.hpp"
#include "tenon/files.hpp"
#include "tenon/model.hpp"
#include "tenon/npz.hpp"
#include "tenon/optimize.hpp"
#include "tenon/options.hpp"
#include "tenon/process.hpp"
#include "tenon/respelled.hpp"
#include "tenon/session.hpp"
#include "tenon/type.hpp"
#include "tenon/value.hpp"
#include "tenon/weights.hpp"
