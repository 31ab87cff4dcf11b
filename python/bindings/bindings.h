#pragma once

#include <nanobind/nanobind.h>

#include <tenon/tenon.hpp>

void bind_errors(nanobind::module_& m);
void bind_values(nanobind::module_& m);
void bind_models(nanobind::module_& m);
