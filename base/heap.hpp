// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llmscape {

// Asks for large pages behind the heap, once, first of all in a program that simulates. A run touches tens of megabytes
// of small objects in no order: with pages of 4 KiB it takes thousands of faults and misses of the TLB, a tenth to a
// quarter of its CPU time (docs/speed.md). Address space is taken in advance, memory only where it is touched. Nothing
// happens where the C library is not glibc or the system has no such pages.
void widen_heap();

}  // namespace llmscape
