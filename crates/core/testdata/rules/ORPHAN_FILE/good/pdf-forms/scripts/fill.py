from helpers import fill
