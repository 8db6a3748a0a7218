// A predicted time drawn as a bar of its parts, and the parts as lines below it.
#pragma once

#include <string>

#include "app/window/parts/time_bar_model.h"

namespace heddle::app {

/// Over the available width. The probe knows the bar as "NAME/bar" and the lines as "NAME/part/PART".
void draw_time_bar(const std::string& name, const TimeBar& bar);

}  // namespace heddle::app
