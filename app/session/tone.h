// How something stands, for its colour: in lists, pills and cards.
#pragma once

namespace heddle::app {

enum class Tone { Neutral, Good, Warning, Bad, Busy };

}  // namespace heddle::app
