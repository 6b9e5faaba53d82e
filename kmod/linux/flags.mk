# SPDX-License-Identifier: GPL-2.0
#
# What whoever compiles the module's headers needs, providers of third parties too: in
# their Kbuild, with DFR_TOP as the root of these sources,
#
#   include $(DFR_TOP)/kmod/linux/flags.mk
ccflags-y += -I$(DFR_TOP) -I$(DFR_TOP)/kmod/linux $(shell sh $(DFR_TOP)/kmod/linux/features.sh $(srctree)/include)
