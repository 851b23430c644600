#include "cquicshim.h"
