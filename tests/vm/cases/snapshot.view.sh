#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
guest-device keep looked-at
guest-device getppid 100
guest-device view looked-at
