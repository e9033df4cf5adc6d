// SPDX-License-Identifier: MIT
// See gloo/names.h.
#pragma once
#include "gloo/gloo_names.h"
