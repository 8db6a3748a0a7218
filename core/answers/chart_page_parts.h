// What is the same in every chart page: its style and its script.
#pragma once

namespace heddle {

extern const char* const kChartPageStyle;
/// Draws what the page's JSON holds (chart_page.cpp writes it): bars are [op, iteration, row, lane, begin, end, end of latency, flags].
extern const char* const kChartPageScript;

}  // namespace heddle
