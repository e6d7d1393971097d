/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel we build for lacks, under its upstream name.  Included before
 * anything else in every file.  SMC_HAVE_* comes from Kbuild.include; a version
 * is checked only where no header tells.
 */
#ifndef SMC_COMPAT_H
#define SMC_COMPAT_H

#endif
