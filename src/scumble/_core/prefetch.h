/* Start loading memory that will be read soon into the cache, without waiting for it. */
#ifndef SCUMBLE_PREFETCH_H
#define SCUMBLE_PREFETCH_H

#if defined(__GNUC__) || defined(__clang__)
#define prefetch(address) __builtin_prefetch(address)
#else
#define prefetch(address) ((void)(address))
#endif

#endif
