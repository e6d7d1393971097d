/* SPDX-License-Identifier: GPL-2.0 */
/* The addresses with which a device reaches memory: those that a consumer has mapped for it. */
#ifndef STRICT_DMA_H
#define STRICT_DMA_H

#include <linux/device.h>
#include <linux/types.h>

struct strict_dev;
struct strict_dma;

int strict_dma_init(void);
void strict_dma_exit(void);
int strict_dma_create(struct strict_dev *dev);
void strict_dma_destroy(struct strict_dev *dev);
struct device *strict_dma_device(struct strict_dma *dma);
bool strict_dma_allows(struct strict_dma *dma, u64 addr, u32 length, bool write);
bool strict_dma_copy(struct strict_dma *dma, u64 addr, void *data, u32 length, bool to_memory);

#endif /* STRICT_DMA_H */
