from tools import *
